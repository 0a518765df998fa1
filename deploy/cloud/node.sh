#!/bin/sh
# This script is the user data (AWS, Azure) or the startup-script (Google Cloud) of a node. The image of the node must
# have been made with deploy/install. The script contains no secret.
set -eu
cat >/etc/rekindle/boot.env <<'END'
ROLE=node
# The cloud is aws, gcp or azure.
CLOUD=aws
# With aws this is the name of a parameter, with gcp it is the name of a secret such as rekindle-node, and with azure it
# is https://VAULT.vault.azure.net/secrets/rekindle-node.
SECRET=/rekindle/node
# This is the HOST:PORT of the coordinator. HOST must be a name in the coordinator's certificate.
COORDINATOR=10.0.0.10:7070
# A machine that has not heard from a coordinator for this many seconds after its start ends itself, as nobody else
# could give it back. If the value is empty, the machine never ends itself.
END_UNLESS_HEARD=300
END
systemctl enable --now --no-block rekindle-boot rekindle-checkpoint rekindle-worker
