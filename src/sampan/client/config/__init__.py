"""Configuration of clients: kubeconfig files and the Pod's service account."""

from sampan.client.config.config import Config, ExecConfig
from sampan.client.config.in_cluster import in_cluster_config
from sampan.client.config.load import ConfigOverrides, load_config

__all__ = ["Config", "ConfigOverrides", "ExecConfig", "in_cluster_config", "load_config"]
