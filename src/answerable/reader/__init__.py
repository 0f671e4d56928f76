"""The reader: it turns a question into a query plan without a language model.

One question passes through these files, in this order:

1. `reader.py`: `Reader.read` calls the stages and decides whether to answer or to ask back.
2. `linking/tokens.py`: the question becomes words with stems, numbers, quoted text and dates.
3. `linking/links.py`: words are linked to tables, columns and measures of the `linking/schema.py`, and to values.
4. `linking/scene.py`: links, cues ("how many", "at least", "not") and clauses together make the `Scene`.
5. `time/date_phrases.py`: what the words say about dates; a `Scene` with its dates is a `DatedScene`.
6. `grammar/grammar.py`: forms, tried in order. One that explains every word, in a question about measures or time, ends
   the way here.
7. `candidates/compose.py`: else options for each clause are combined into some sixty candidate drafts.
8. `ranking/rank.py`: the fitted ranker puts the candidates in order.
9. `ranking/offers.py`: the likeliest become plans, are tried in a dry run, and get a confidence.
10. `explaining/sentence.py`: each plan is said in one English sentence; with it, it is a `Reading` (`reading.py`).

A question that is not surely read by then is read once more, with words taken for names that they come near to in
meaning (`linking/word_meanings.py`, `linking/everyday_words.py`), and in another way as well: `everyday/` proposes
queries and weighs each by how well it explains the words. `ranking/pooling.py` takes what all ways lead to together.

What a stage needs besides lies in its room, or in two rooms that several stages share: `plans` (drafts, joins, plans)
and `fitted` (the arithmetic of the models, whose numbers `weights.py` loads). Beside the way lie `suggestions.py`
(questions to begin with) and `learned_synonyms.py` (what choosing a reading teaches).
"""
