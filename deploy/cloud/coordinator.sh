#!/bin/sh
# This script is the user data (AWS, Azure) or the startup-script (Google Cloud) of the coordinator's machine. The image
# of the machine must have been made with deploy/install.
set -eu
cat >/etc/rekindle/boot.env <<'END'
ROLE=coordinator
# CLOUD is the cloud that the coordinator runs in: aws, gcp or azure.
CLOUD=aws
# SECRET says where the cloud keeps the keys and the token of the coordinator. It is the name of a parameter with aws,
# the name rekindle-coordinator with gcp, and https://VAULT.vault.azure.net/secrets/rekindle-coordinator with azure.
SECRET=/rekindle/coordinator
END
systemctl enable --now --no-block rekindle-boot rekindle-coordinator
