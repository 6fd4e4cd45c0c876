# A public schema of Adult: jq -n [--arg of cells] -f adult.jq. The categories are those of adult.names, the data set's documentation. It
# calls other columns continuous; their bounds are round numbers around what the survey could record: people above 16 and with hours of
# work, ages up to 90, two digits of hours, five digits of gains. With `of cells` numbers are the cells that pgm.sh makes.
def words($text): $text | split(" ");
def texts($name; $text): {name: $name, type: "categorical", categories: words($text)};
def cells: $ARGS.named.of == "cells";
def number($name; $bounds; $count): {name: $name, type: "numeric", bounds: (if cells then [0, $count] else $bounds end)};
{header: true, columns: [
    number("age"; [17, 91]; 85),
    texts("workclass"; "? Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"),
    number("fnlwgt"; [0, 1500000]; 100),
    (texts("education"; "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool")
        | select(cells | not)),
    texts("education-num"; [range(1; 17) | tostring] | join(" ")),
    texts("marital-status"; "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"),
    texts("occupation"; "? Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces"),
    texts("relationship"; "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    texts("race"; "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    texts("sex"; "Female Male"),
    number("capital-gain"; [0, 100000]; 100),
    number("capital-loss"; [0, 5000]; 100),
    number("hours-per-week"; [1, 100]; 99),
    texts("native-country"; "? United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"),
    {name: "income", type: "label", classes: ["<=50K", ">50K"]}]}
