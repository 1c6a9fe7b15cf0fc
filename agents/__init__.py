"""What chooses actions, learns and compares."""
