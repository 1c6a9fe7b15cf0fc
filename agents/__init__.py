"""What chooses actions, learns and compares: agents, training and evaluation."""
