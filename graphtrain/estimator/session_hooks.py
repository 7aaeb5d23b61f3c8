"""TensorFlow's session hooks and what they are made of, which tf.estimator named too."""

import tensorflow as tf

tf1 = tf.compat.v1

CheckpointSaverHook = tf1.train.CheckpointSaverHook
CheckpointSaverListener = tf1.train.CheckpointSaverListener
FeedFnHook = tf1.train.FeedFnHook
FinalOpsHook = tf1.train.FinalOpsHook
GlobalStepWaiterHook = tf1.train.GlobalStepWaiterHook
LoggingTensorHook = tf1.train.LoggingTensorHook
NanLossDuringTrainingError = tf1.train.NanLossDuringTrainingError
NanTensorHook = tf1.train.NanTensorHook
ProfilerHook = tf1.train.ProfilerHook
SecondOrStepTimer = tf1.train.SecondOrStepTimer
SessionRunArgs = tf1.train.SessionRunArgs
SessionRunContext = tf1.train.SessionRunContext
SessionRunHook = tf1.train.SessionRunHook
SessionRunValues = tf1.train.SessionRunValues
StepCounterHook = tf1.train.StepCounterHook
StopAtStepHook = tf1.train.StopAtStepHook
SummarySaverHook = tf1.train.SummarySaverHook
