"""`sampan upgrade`: brings the files of a project to the templates of this version, with the changes of its users."""
