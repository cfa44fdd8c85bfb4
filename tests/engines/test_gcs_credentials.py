"""Spark on `gs://` with nothing but what the catalog gives it, for longer than that lasts."""

import json
import os
import subprocess
from pathlib import Path

from env import google, guillemot
from env.rest import Rest

JOB = Path(__file__).with_name("long_job.py")
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
SECONDS = 180


def test_a_job_outlives_its_credentials(tmp_path, gcs):
    with google.running(gcs) as services:
        secret = tmp_path / "key.json"
        secret.write_text(json.dumps(services.key_file()))
        variables = {
            "GUILLEMOT_SECRET_KEY": KEY,
            "GUILLEMOT_GCS_ENDPOINT": gcs,
            "GUILLEMOT_GCS_PUBLIC_ENDPOINT": services.guard,
            "GUILLEMOT_GCS_STS_URL": services.sts_url,
            "GUILLEMOT_GCS_TOKEN_URL": services.token_url,
        }
        location = "gs://warehouse/long-job"
        database = f"sqlite://{tmp_path}/guillemot.db"
        argv = [guillemot.binary(), "--database-url", database, "warehouse"]
        for last in (["create", "lake", location], ["set", "lake", "--credentials", "vended-credentials"]):
            subprocess.run([*argv, *last], env=os.environ | variables, check=True)
        argv += ["set", "lake", "--storage-secret", secret]
        subprocess.run(argv, env=os.environ | variables, check=True)
        secrets = {KEY, *json.loads(secret.read_text())["private_key"].splitlines()[1:-1]}
        server = guillemot.Guillemot(tmp_path, database, {"lake": location}, variables=variables, secrets=secrets)
        with server:
            argv = [os.environ["TEST_SPARK_PYTHON"], JOB, server.uri, "lake", os.environ["TEST_SPARK_JARS"]]
            clean = {k: v for k, v in os.environ.items() if not k.startswith(("GOOGLE_", "STORAGE_EMULATOR"))}
            job = subprocess.run(
                [str(a) for a in [*argv, SECONDS]],
                env=clean,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=900,
            )
            assert job.returncode == 0, f"{job.stdout[-6000:]}\n{services.refused[-10:]}"
            assert "rounds in" in job.stdout
            server.secrets |= {*services.given, services.base}
            config = Rest(server.uri, "lake").load(["long_job"], "t")["config"]
        used = [token for token in services.used if token in services.given]
        assert len(used) > SECONDS / google.LIFETIME_S, used
        assert services.refused == [], services.refused
        assert "gcs.oauth2.token" not in config, "who does not ask gets none"
