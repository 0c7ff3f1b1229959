"""Files: models as single files, and tables read and written in blocks. No module here imports a classifier."""
