"""Who may see what: the rules of `access.yaml`, applied to catalogs and statements. See docs/access.md."""
