"""What is kept on disk: whole-or-absent files, places, provenance, force samples."""
