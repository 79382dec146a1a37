"""Chat models: any OpenAI-compatible server, the embedded model, usage, and the reply cache."""
