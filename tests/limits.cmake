# Limits of the gateway, slow and dead peers.
