"""Speed of Sampan with very many objects, on SQLite and on etcd, and with several servers on one etcd."""
