"""What people are told of: the bell, the list, and when mail comes."""
