"""What a user asks for when there is a before and an after: pair audits, and say what changed and at what cost."""
