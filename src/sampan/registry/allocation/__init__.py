"""What Services hold, recorded in the store: no two servers on one store ever give the same address or port."""
