"""What all families of the search share: the polish of numbers."""
