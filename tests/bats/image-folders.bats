#!/usr/bin/env bats
# dp-import images: folders of PNG, JPEG and PNM, in directories and in zip archives, against Pillow.
load helper

# pictures [SIDE]: pets/{cat,dog}, eight colour images in all formats, and pets.zip of the same, made and read by Pillow; their
# pixels in pixels.npy in the order of classes and names
pictures() {
    /usr/bin/python3 -c 'import PIL' 2> /dev/null || skip "Pillow is not installed (python3-pil)"
    /usr/bin/python3 - "${1:-16}" << 'END'
import io, os, sys, zipfile
import numpy
from PIL import Image
side = int(sys.argv[1])
rng = numpy.random.default_rng(1)
def picture(channels=3):
    rough = rng.integers(0, 256, (4, 4, channels)).astype("u1")
    return Image.fromarray(rough.squeeze()).resize((side, side), Image.BILINEAR)
files = {
    "cat/a.png": ("PNG", picture(), {}), "cat/b.jpg": ("JPEG", picture(), {"quality": 75}),
    "cat/c.ppm": ("PPM", picture(), {}), "cat/d.png": ("PNG", picture().quantize(16), {}), # a palette
    "dog/a.JPG": ("JPEG", picture(), {"progressive": True, "subsampling": 0}), "dog/b.pgm": ("PPM", picture(1), {}),
    "dog/c.png": ("PNG", picture(4), {}), # transparency
    "dog/d.jpeg": ("JPEG", picture(1), {}), # grey
}
with zipfile.ZipFile("pets.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for name in sorted(files, reverse=True):
        format, image, options = files[name]
        store = io.BytesIO()
        image.save(store, format, **options)
        os.makedirs(os.path.dirname("pets/" + name), exist_ok=True)
        open("pets/" + name, "wb").write(store.getvalue())
        archive.writestr("train/" + name, store.getvalue())
    archive.writestr("__MACOSX/train/cat/._a.png", b"junk")
    archive.writestr("train/cat/.DS_Store", b"junk")
numpy.save("pixels.npy", numpy.array([numpy.asarray(Image.open("pets/" + name).convert("RGB")) for name in sorted(files)]))
END
}

same_pixels() { # DATA-SET
    /usr/bin/python3 - "$1" << 'END'
import json, sys
import numpy
wanted = numpy.load("pixels.npy").reshape(8, -1) / 255
rows = numpy.load(sys.argv[1] + "/X.npy").astype(float) * json.load(open(sys.argv[1] + "/dataset.json"))["row_divisor"]
assert rows.shape == (8, wanted.shape[1] + 1)
assert abs(rows[:, :-1] - wanted).max() < 1e-6, abs(rows[:, :-1] - wanted).max(1)
assert list(numpy.load(sys.argv[1] + "/y.npy")) == [0] * 4 + [1] * 4
END
}

@test "images: PNG, JPEG, PGM and PPM have the pixels that Pillow reads, in a directory and in an archive" {
    pictures
    touch pets/cat/.hidden
    run dp-import images -o pets.dp pets/
    assert_output "dp-import: pets.dp: 8 rows, 769 columns, 2 classes
dp-import: every row is divided by 27.7309, the largest norm that the bounds permit; the last column is a bias
dp-import: one row is taken for one person
dp-import: the population is pets"
    same_pixels pets.dp
    assert_equal "$(jq -c '.label.classes, .pixels, .private_preprocessing' pets.dp/dataset.json)" '["cat","dog"]
"16x16x3"
[]'
    dp-import images -q -o zip.dp pets.zip/train # the same bytes: the same people
    same_pixels zip.dp
    assert_equal "$(dp-info -g population zip.dp)" pets
    dp-info --verify zip.dp > info
    # other classes, in another order
    dp-import -q --classes dog,bird,cat -o other.dp pets
    assert_equal "$(/usr/bin/python3 -c 'import numpy; print(numpy.load("other.dp/y.npy"))')" "[2. 2. 2. 2. 0. 0. 0. 0.]"
}

@test "images: features of images, and a model that reads a folder and an archive of new ones" {
    pictures
    dp-import images -q --features hog -o pets.dp pets
    assert_equal "$(dp-info -g row_norm pets.dp)" "hog:v1 16x16x3 seed 1, unit, bias"
    sgd.sh --data pets.dp --epochs 1 --batch 4 --loss logistic -q -o model
    dp-predict --scores model pets.dp > scores
    dp-predict --scores model pets > new
    cmp scores new
    dp-predict --scores model pets.zip/train | cmp - new
    mkdir flat && cp pets/cat/* flat
    dp-predict --scores model flat > new
    head -n "$(wc -l < new)" scores | cmp - new
    dp-import images -q --features scatter -o scattered.dp pets
    assert_equal "$(dp-info -g row_norm scattered.dp) $(dp-info -g cols scattered.dp)" "scatter:v1 16x16x3 seed 1, unit, bias 2137"
}

@test "images: what is no image, damaged, of another size or in another place" {
    pictures
    complains 1 "dp-import: cannot open nothing: No such file or directory" dp-import images -o x.dp nothing
    complains 1 "dp-import: pixels.npy is neither a directory nor a zip archive" dp-import images -o x.dp pixels.npy
    dp-import images -q -o outer.dp pets.zip # the one folder that all others are in
    dp-import images -q -o train.dp pets.zip/train
    cmp outer.dp/X.npy train.dp/X.npy
    /usr/bin/python3 -c '
import zipfile
with zipfile.ZipFile("pets.zip") as old, zipfile.ZipFile("two.zip", "w") as new:
    for name in old.namelist():
        new.writestr(name.replace("train/cat", "valid/cat"), old.read(name))'
    complains 1 "dp-import: two.zip: 'train/dog/d.jpeg' is a folder in a folder, and images are read as FOLDER/CLASS/FILE (is the folder two.zip/train?)" \
        dp-import images -o x.dp two.zip
    complains 1 "dp-import: pets.zip/valid/: no images" dp-import images -o x.dp pets.zip/valid
    complains 1 "dp-import: pets/cat: 'a.png' is in no folder of a class: images are read as FOLDER/CLASS/FILE" \
        bash -c 'rm pets/cat/[!a]*; exec dp-import images -o x.dp pets/cat'
    complains 1 "dp-import: pets: the folder 'dog' is not one of the classes (--classes: cat, cow)" dp-import images --classes cat,cow -o x.dp pets
    mkdir -p one && cp -r pets/dog one
    complains 1 "dp-import: one: the only class is 'dog' (--classes says all of them)" dp-import images -o x.dp one
    dp-import -q --classes cat,dog -o one.dp one

    mkdir -p bad/cat bad/dog
    cp pets/dog/* bad/dog
    for kind in c.png a.JPG b.pgm; do # cut short, one byte before the end of what is needed
        cp pets/dog/"$kind" whole
        head -c $(($(stat -c %s whole) - 14)) whole > bad/cat/"$kind"
        run dp-import images -q -o x.dp bad
        assert_failure 1
        case $kind in
            c.png) assert_output "dp-import: bad/cat/c.png is damaged, or no PNG image: it is cut short" ;;
            a.JPG) assert_output "dp-import: bad/cat/a.JPG is damaged, or no JPEG image: Premature end of JPEG file" ;;
            b.pgm) assert_output "dp-import: bad/cat/b.pgm is damaged, or no PNM image: it is cut short" ;;
        esac
        rm bad/cat/"$kind"
    done
    printf 'P3 2 2 255 1 2 3 # words\n 4 5 6 7 8 9 10 11 256' > bad/cat/a
    complains 1 "dp-import: bad/cat/a is damaged, or no PNM image: a pixel is larger than its header says" dp-import images -o x.dp bad
    printf 'P3 2 2 255 1 2 3 # words\n 4 5 6 7 8 9 10 11 12' > bad/cat/a
    complains 1 "dp-import: bad/dog/a.JPG has 16 x 16 pixels, and the first image has 2 x 2" dp-import images -o x.dp bad
    printf 'P5 9999999 9999999 255 1' > bad/cat/a
    complains 1 "dp-import: bad/cat/a has 9999999 x 9999999 pixels, more than 10000000 bytes" dp-import images -o x.dp bad
    printf 'no image' > bad/cat/a
    complains 1 "dp-import: bad/cat/a is not an image: PNG, JPEG, PGM and PPM are read" dp-import images -o x.dp bad
    cp pets/dog/b.pgm bad/cat/a
    complains 1 "dp-import: bad/dog/a.JPG is in colour, and the first image is grey" dp-import images -o x.dp bad
    assert_not_exists x.dp
}

@test "images: archives that lie about sizes, are cut short or encrypted" {
    pictures
    /usr/bin/python3 - << 'END'
import struct, zipfile
whole = open("pets.zip", "rb").read()
at = whole.rfind(b"PK\5\6")
size, place = struct.unpack("<II", whole[at + 12:at + 20])
def write(name, offset, value, format="<I"):
    changed = bytearray(whole)
    struct.pack_into(format, changed, place + offset, value)
    open(name + ".zip", "wb").write(changed)
write("larger", 24, struct.unpack_from("<I", whole, place + 24)[0] + 1)
write("smaller", 24, struct.unpack_from("<I", whole, place + 24)[0] - 1)
write("bomb", 24, 250_000_000)
write("wrong", 16, 1)
write("away", 42, 0xFFFFFF00)
write("moved", 42, 5)
write("secret", 8, 1, "<H")
write("odd", 10, 12, "<H")
write("listed", 0, 0)
open("short.zip", "wb").write(whole[:-30])
open("cut.zip", "wb").write(whole[:place // 2] + whole[place:])
with zipfile.ZipFile("twice.zip", "w") as archive:
    for i in range(2):
        archive.writestr("cat/a.png", b"%d" % i)
END
    local first=train/dog/d.jpeg
    while IFS="|" read -r name message; do
        complains 1 "dp-import: $name.zip${message}" dp-import images -o x.dp "$name.zip/train"
    done << END
larger|: '$first' has another size than the archive says
smaller|: '$first' has another size than the archive says
bomb|: '$first' has another size than the archive says
wrong|: '$first' is damaged: its checksum is wrong
away| is damaged, or no zip archive: it points beyond its end
moved|: '$first' is not where the archive says
secret|: '$first' is encrypted
odd|: '$first' is compressed by a method other than deflate
listed| is damaged, or no zip archive: its list of members is cut short
short| is damaged, or no zip archive: it has no list of its members at its end
cut| is damaged, or no zip archive: it points beyond its end
END
    complains 1 "dp-import: twice.zip has 'cat/a.png' twice" dp-import images -o x.dp twice.zip
    assert_not_exists x.dp
}

@test "images: a folder, and an archive with the folder in it, are tables of dpline fit and dpline predict" {
    /usr/bin/python3 - << 'END'
import os, shutil
import numpy as np
rng = np.random.default_rng(1)
for kind in ("flat", "steep"):
    os.makedirs("shapes/" + kind)
    for i in range(600):
        a = rng.integers(0, 90, (16, 16)).astype("u1")
        line = a if kind == "flat" else a.T
        line[rng.integers(7, 9)] += 120
        open(f"shapes/{kind}/{i}.pgm", "wb").write(b"P5 16 16 255\n" + a.tobytes())
os.makedirs("shapes/empty") # makes no class
shutil.make_archive("other", "zip", ".", "shapes")
END
    for table in shapes other.zip; do
        name=${table%.zip}
        dpline fit "$table" --epsilon 5 --no-registry 2> said || fail "$(cat said)"
        grep -q "^dp-import: $name.dp: 960 rows, 257 columns, 2 classes; $name-test.dp: 240 rows" said
        grep -q "^  dp-import idx --features hog -o $name-hog.dp IMAGES LABELS   # of a folder or a zip archive: images instead of idx, and FOLDER" said
        # 24 runs: an AUC of .9999 and more
        auc=$(dp-eval --data "$name-test.dp" --metrics auc --last --in "$name.model" | awk 'END { print $NF }')
        awk -v auc="$auc" 'BEGIN { exit !(auc > 0.9) }' || fail "$table: AUC $auc"
        dpline predict "$name.model" "$table" > "$name.csv"
        assert_equal "$(wc -l < "$name.csv")" 1201
    done
}
