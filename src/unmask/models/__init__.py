"""What a model can do, as small roles (`roles`), and the engine that runs it quickly (`batching`).

A measure asks a model for one role, such as `MaskedLM` or `Classifier`. Users can pass any object with those few
methods; a folder or hub id in the `transformers` format is the most common case (`loading`). A new role is a protocol
in `roles`, a module that implements it, and a line in `checkpoints`.
"""
