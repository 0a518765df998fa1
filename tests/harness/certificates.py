"""What a coordinator needs that listens beyond loopback: an authority, a certificate and a token, made by openssl."""
import subprocess


def make_certificates(folder, host):
    """An authority, and one certificate for server and clients; the environment that makes every process use them."""
    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, capture_output=True, text=True)
    ca, key, cert = folder / "ca.pem", folder / "key.pem", folder / "cert.pem"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority",
            "-keyout", str(folder / "ca.key"), "-out", str(ca))
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=rekindle", "-keyout", str(key),
            "-out", str(folder / "request.pem"))
    (folder / "names.cnf").write_text(f"subjectAltName=IP:{host},DNS:rekindle-node\n")
    openssl("x509", "-req", "-in", str(folder / "request.pem"), "-CA", str(ca), "-CAkey", str(folder / "ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", str(folder / "names.cnf"), "-out", str(cert))
    token = folder / "token"
    token.write_text("0123456789abcdef-of-this-test\n")
    token.chmod(0o600)
    return {"REKINDLE_TLS_CERT": str(cert), "REKINDLE_TLS_KEY": str(key), "REKINDLE_TLS_CA": str(ca),
            "REKINDLE_TOKEN_FILE": str(token)}


def coordinator_flags(env):
    """The same as flags of a coordinator."""
    return ["--tls-cert", env["REKINDLE_TLS_CERT"], "--tls-key", env["REKINDLE_TLS_KEY"],
            "--tls-ca", env["REKINDLE_TLS_CA"], "--token-file", env["REKINDLE_TOKEN_FILE"]]
