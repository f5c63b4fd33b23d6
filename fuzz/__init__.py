"""Damaged files and senseless calls, many of them: whatever comes, the answer is a result or one sentence."""
