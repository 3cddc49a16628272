"""One file per attention kind; the file's name is the kind's name."""
