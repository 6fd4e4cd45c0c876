"""Makes the wheel of dpline.py when pip asks for it (PEP 517), with Python alone, so pip fetches nothing to build it.

A checkout that was built gives a wheel for this machine, with the commands and the library in the directory dpline_tree. Another gives
a wheel of dpline.py only, which looks for them where it is installed."""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):  # pylint: disable=unused-argument
    """Writes the wheel, and returns its name."""
    version = re.search('DP_VERSION "(.*)"', (TREE / "lib/base/version.h").read_text("utf-8"))[1]
    files, tag = {"dpline.py": HERE / "dpline.py"}, "py3-none-any"
    with tempfile.TemporaryDirectory() as place:
        if (TREE / os.environ.get("BUILD", "build") / "bin" / "dp-fit").exists():
            subprocess.run(["make", "-s", "-C", TREE, "install", "DESTDIR=" + place, "PREFIX=/"], check=True, stdout=sys.stderr)
            tag = "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())
            for part in ("bin/dp-*", "lib/dpline/*.so", "lib/libdpline.so", "share/dpline/pipelines/*"):
                for file in sorted(pathlib.Path(place).glob(part)):
                    files[f"dpline_tree/{file.relative_to(place)}"] = file
        about = f"dpline-{version}.dist-info/"
        texts = {"METADATA": f"Metadata-Version: 2.1\nName: dpline\nVersion: {version}\nSummary: Private classifiers and regressors\n"
                             "License: GPL-3.0-or-later\nRequires-Python: >=3.8\nRequires-Dist: numpy\n",
                 "WHEEL": f"Wheel-Version: 1.0\nGenerator: dpline\nRoot-Is-Purelib: {str(tag[-3:] == 'any').lower()}\nTag: {tag}\n"}
        if len(files) > 1:
            texts["entry_points.txt"] = "[console_scripts]\ndpline = dpline:main\n"
        name, record = f"dpline-{version}-{tag}.whl", ""
        with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
            for path, content in [(p, f.read_bytes()) for p, f in files.items()] + [(about + t, c.encode()) for t, c in texts.items()]:
                entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (files[path].stat().st_mode if path in files else 0o100644) << 16
                wheel.writestr(entry, content)
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                record += f"{path},sha256={digest},{len(content)}\n"
            wheel.writestr(about + "RECORD", f"{record}{about}RECORD,,\n")
    return name
