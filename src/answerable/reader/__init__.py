"""The reader: it turns a question into a query plan without a language model.

`reader.py` shows the order of the stages and `reading.py` what comes out. Each stage is a room: `linking` finds what
the words may refer to, `time` what they say about dates, `grammar` tries forms that explain every word, `candidates`
combines clauses into possible queries, `ranking` weighs them, and `explaining` says in English what was understood.
`plans` and `fitted` hold what several stages need: joins and plans, and the models' arithmetic.
"""
