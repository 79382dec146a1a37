text = "assam 5; sencha 2; oolong 4"
