import pytest
import tensorflow as tf

from graphtrain import UsageError
from graphtrain.estimator import experimental


def call(logit_fn):
    return experimental.call_logit_fn(logit_fn, "features", "train", {"a": 1}, "config")


def test_it_is_given_what_it_has_arguments_for(graph):
    seen = []

    def logit_fn(config, features, mode):
        seen.append((config, features, mode))
        return {"head": tf.zeros([1])}

    assert list(call(logit_fn)) == ["head"]
    assert seen == [("config", "features", "train")]
    assert call(lambda features, params: tf.fill([1], params["a"])).shape == (1,)


@pytest.mark.parametrize("result", [None, 1.0, {1: "a"}, {"a": 2}])
def test_what_is_no_logits(result, graph):
    with pytest.raises(UsageError, match="logit_fn must return a tensor or a dict"):
        call(lambda features: result)
