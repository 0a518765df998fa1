#!/bin/sh
# This script is the user data (AWS, Azure) or the startup-script (Google Cloud) of a node. The image of the node must
# have been made with deploy/install. The script contains no secret.
set -eu
cat >/etc/rekindle/boot.env <<'END'
ROLE=node
# CLOUD is the cloud that the node runs in: aws, gcp or azure.
CLOUD=aws
# SECRET says where the cloud keeps the keys and the token of the node. It is the name of a parameter with aws, the name
# of a secret such as rekindle-node with gcp, and https://VAULT.vault.azure.net/secrets/rekindle-node with azure.
SECRET=/rekindle/node
# COORDINATOR is the HOST:PORT of the coordinator. HOST must be a name in the coordinator's certificate.
COORDINATOR=10.0.0.10:7070
# A machine that has not heard from a coordinator for END_UNLESS_HEARD seconds after its start ends itself, as nobody
# else could give it back. If the value is empty, the machine never ends itself.
END_UNLESS_HEARD=300
END
systemctl enable --now --no-block rekindle-boot rekindle-checkpoint rekindle-worker
