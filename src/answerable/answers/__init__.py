"""From rows to something a person reads: kinds, formats, checked numbers, charts, exports, capsules."""
