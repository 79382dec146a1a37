text = "sencha 2; oolong 4; assam 5; ceylon 4; keemun 3"
