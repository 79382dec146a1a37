"""Problems on libraries that exist nowhere, judged by data flow ("Measuring Novel API Use in
Program Synthesis")."""
