"""Files: models as single files, and tables that are read and written in blocks. Nothing here imports a classifier."""
