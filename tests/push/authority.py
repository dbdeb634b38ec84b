"""Certificate authorities made on the spot, and what they sign: right certificates, and wrong in one way each. By the
`openssl` command, so that nothing has to be installed; the keys live in a folder that goes with the process."""

import os
import subprocess
import tempfile
import time

DAY = 86400
CONFIGURATION = """
[ca]
default_ca = here
[here]
new_certs_dir = {folder}
database = {folder}/index.txt
serial = {folder}/serial
unique_subject = no
default_md = sha256
policy = anything
[anything]
commonName = supplied
[root]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[middle]
basicConstraints = critical, CA:true, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[leaf]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = {names}
[client]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
subjectAltName = {names}
[odd]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = {names}
1.2.3.4.5.6 = critical, ASN1:UTF8String:nobody knows what this means
[nameless]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
[weak]
basicConstraints = critical, CA:true
keyUsage = critical, digitalSignature
[req]
distinguished_name = nobody
prompt = no
[nobody]
CN = nobody
"""
KEYS = {
    "p256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "p384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "ed25519": ["-algorithm", "ED25519"],
    "rsa": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
}


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"openssl {' '.join(words)}: {done.stderr}"
    return done.stdout


def asn1_time(seconds):
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(seconds))


class Identity:
    """A key, its certificate, and the chain that goes with it, as files."""

    def __init__(self, key, certificate, chain):
        self.key, self.certificate, self.chain = key, certificate, chain

    def pem(self):
        with open(self.certificate, encoding="ascii") as file:
            return file.read()


class Authority:
    """One root, and whatever it is asked to sign. `now` is the time by the clock of whoever verifies."""

    def __init__(self, kind="p256", name="mote tests", now=None):
        self.folder = tempfile.TemporaryDirectory(prefix="mote-ca-")
        self.kind, self.now, self.count = kind, now or time.time(), 0
        with open(self.path("index.txt"), "w", encoding="ascii"):
            pass
        with open(self.path("serial"), "w", encoding="ascii") as file:
            file.write("1000\n")
        self.root = self._sign(name, kind, "root", issuer=None)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def root_file(self):
        """The root's certificate, for whoever is to trust it."""
        return self.root.certificate

    def leaf(self, names, kind=None, begins=-DAY, ends=30 * DAY, issuer=None, common_name="webhook", extensions="leaf"):
        """A certificate for these hosts, names or addresses; `begins` and `ends` are seconds from now, `extensions` one of
        the sections above."""
        return self._sign(common_name, kind or self.kind, extensions, issuer or self.root, names, begins, ends)

    def middle(self, kind=None, issuer=None, begins=-2 * DAY, ends=60 * DAY, extensions="middle"):
        """An intermediate authority."""
        kind, issuer = kind or self.kind, issuer or self.root
        return self._sign("mote tests, between", kind, extensions, issuer, begins=begins, ends=ends)

    def _sign(self, common_name, kind, extensions, issuer, names=("nobody.test",), begins=-2 * DAY, ends=60 * DAY):
        self.count += 1
        base = self.path(f"{self.count}")
        key, request, certificate, chain = (f"{base}.{end}" for end in ["key", "csr", "crt", "chain"])
        with open(f"{base}.cnf", "w", encoding="ascii") as file:
            alternative = ",".join(("IP:" if name[0].isdigit() or ":" in name else "DNS:") + name for name in names)
            file.write(CONFIGURATION.format(folder=self.folder.name, names=alternative))
        openssl("genpkey", *KEYS[kind], "-out", key)
        openssl("req", "-new", "-key", key, "-config", f"{base}.cnf", "-subj", f"/CN={common_name}", "-out", request)
        signer = ["-selfsign", "-keyfile", key] if issuer is None else ["-cert", issuer.certificate, "-keyfile", issuer.key]
        # The hash that goes with the signer's curve; an Ed25519 signature has its own.
        signer_kind = kind if issuer is None else issuer.kind
        digest = {"p256": "sha256", "p384": "sha384", "rsa": "sha256", "ed25519": "default"}[signer_kind]
        openssl("ca", "-batch", "-notext", "-config", f"{base}.cnf", "-in", request, "-out", certificate, "-extensions",
                extensions, "-startdate", asn1_time(self.now + begins), "-enddate", asn1_time(self.now + ends),
                "-md", digest, *signer)
        made = Identity(key, certificate, chain)
        made.kind, made.issuer = kind, issuer
        with open(chain, "w", encoding="ascii") as file:
            link = made
            while link is not None and (link is made or link.issuer is not None):
                file.write(link.pem())
                link = link.issuer
        return made
