#!/bin/sh
# User data (AWS, Azure) or startup-script (Google Cloud) of a node, on an image that deploy/install made. No secret.
set -eu
cat >/etc/rekindle/boot.env <<'END'
ROLE=node
# aws, gcp or azure
CLOUD=aws
# aws: a parameter's name; gcp: a secret's name, as rekindle-node; azure: https://VAULT.vault.azure.net/secrets/rekindle-node
SECRET=/rekindle/node
# As its certificate names it.
COORDINATOR=10.0.0.10:7070
# Seconds after which a machine that has heard of no coordinator since it started ends itself: nobody could give it
# back. Nothing: never.
END_UNLESS_HEARD=300
END
systemctl enable --now --no-block rekindle-boot rekindle-checkpoint rekindle-worker
