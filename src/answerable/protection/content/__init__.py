"""What people ask and what models say, compared with what the operator does not want: lists of words, and a service."""
