"""What the language is called. A file of its own: most who compare a language with it need no parser of Cypher."""

from answerable.core.values import Language

LANGUAGE: Language = "cypher"
