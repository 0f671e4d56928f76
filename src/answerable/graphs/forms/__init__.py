"""What each kind of node becomes, a file for each group of kinds."""
