"""Session hooks, one a file; each works in TensorFlow's own MonitoredTrainingSession too."""
