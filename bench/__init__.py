"""Speed, as ratios against a stated floor that is measured in the same run. See README.md."""
