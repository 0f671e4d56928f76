"""An API as a source: its entities are tables, whose rows are fetched when a query needs them."""
