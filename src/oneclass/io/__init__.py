"""What lies on a disk: models as one file, tables read and written block by block; no classifier is known here."""
