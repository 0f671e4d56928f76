"""What steps do: each kind is one module here, behind the one method of `base.StepKind`."""
