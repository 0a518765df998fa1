"""Makes what a coordinator needs to listen beyond loopback: an authority, a certificate and a token, by openssl."""
import subprocess


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True, text=True)


class Authority:
    """Issues certificates. `folder` keeps the authority's own key and certificate, which are made where it has none."""

    def __init__(self, folder):
        self.folder = folder
        self.certificate, self.key = folder / "ca.pem", folder / "ca.key"
        if not self.certificate.exists():
            openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority",
                    "-keyout", str(self.key), "-out", str(self.certificate))

    def request(self, name, host):
        """Makes a key and a certificate request for `host`. Returns {role: path}."""
        files = {role: self.folder / f"{name}{end}" for role, end in
                 (("key", "key.pem"), ("request", "request.pem"), ("cert", "cert.pem"), ("names", "names.cnf"))}
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=rekindle", "-keyout", str(files["key"]),
                "-out", str(files["request"]))
        files["names"].write_text(f"subjectAltName=IP:{host},DNS:rekindle-node\n")
        return files

    @staticmethod
    def variables(files):
        return {"REKINDLE_TLS_CERT": str(files["cert"]), "REKINDLE_TLS_KEY": str(files["key"])}

    def sign(self, host):
        """Issues a certificate for server and clients. Returns the environment variables that select it."""
        files = self.request("", host)
        openssl("x509", "-req", "-in", str(files["request"]), "-CA", str(self.certificate), "-CAkey", str(self.key),
                "-CAcreateserial", "-days", "2", "-extfile", str(files["names"]), "-out", str(files["cert"]))
        return self.variables(files)

    def expired(self, name, host):
        """Issues a certificate that was valid only on the first day of 2020. Returns the variables that select it."""
        files = self.request(f"{name}-", host)
        configuration = self.folder / f"{name}-ca.cnf"
        database = self.folder / f"{name}-database"
        database.write_text("")
        configuration.write_text(f"[ca]\ndefault_ca=it\n[it]\ndatabase={database}\nnew_certs_dir={self.folder}\n"
                                 "default_md=sha256\npolicy=any\nrand_serial=yes\n[any]\ncommonName=supplied\n")
        openssl("ca", "-batch", "-notext", "-config", str(configuration), "-cert", str(self.certificate), "-keyfile",
                str(self.key), "-in", str(files["request"]), "-out", str(files["cert"]),
                "-extfile", str(files["names"]), "-startdate", "20200101000000Z", "-enddate", "20200102000000Z")
        return self.variables(files)


def make_certificates(folder, host):
    """Makes an authority, and one certificate for server and clients.

    Returns the environment that makes every process use them."""
    authority = Authority(folder)
    token = folder / "token"
    token.write_text("0123456789abcdef-of-this-test\n")
    token.chmod(0o600)
    return {**authority.sign(host), "REKINDLE_TLS_CA": str(authority.certificate), "REKINDLE_TOKEN_FILE": str(token)}


def coordinator_flags(env):
    """Returns the flags with which a coordinator or the command uses the certificates of the environment `env`."""
    return ["--tls-cert", env["REKINDLE_TLS_CERT"], "--tls-key", env["REKINDLE_TLS_KEY"],
            "--tls-ca", env["REKINDLE_TLS_CA"], "--token-file", env["REKINDLE_TOKEN_FILE"]]
