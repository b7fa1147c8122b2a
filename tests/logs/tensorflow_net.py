# What tests/logs/tensorflow.log is the log of: a small residual network in one graph, run once, by TensorFlow 2.21 (oneDNN 3.7).
#   TF_ENABLE_ONEDNN_OPTS=1 ONEDNN_VERBOSE=1 python3 tensorflow_net.py 2>&1 | grep onednn_verbose > tensorflow.log
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

print(tf.__version__, flush=True)
tf.random.set_seed(0)


def weights(*shape):
    return tf.constant(tf.random.normal(shape))


w1, w2, w3, w4 = weights(7, 7, 3, 16), weights(3, 3, 16, 16), weights(1, 1, 16, 32), weights(32, 10)
b1, b2, b3, b4 = weights(16), weights(16), weights(32), weights(10)


@tf.function
def net(x):
    x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w1, 2, "SAME"), b1))
    for _ in range(3):
        x = tf.nn.relu(x + tf.nn.bias_add(tf.nn.conv2d(x, w2, 1, "SAME"), b2))
    x = tf.nn.relu6(tf.nn.bias_add(tf.nn.conv2d(x, w3, 1, "VALID"), b3))
    return tf.matmul(tf.reduce_mean(x, [1, 2]), w4) + b4


net(tf.random.normal((2, 64, 64, 3)))
