#!/usr/bin/env bash
# Prints Adult with the columns and cells that private-pgm's file has: pgm.sh. All 48,842 people, 14 columns, without education; ages
# from 17 on, hours from 1 on, and 100 equal cells of fnlwgt up to 1,500,000, of capital-gain up to 100,000 and of capital-loss up to
# 4,400. private-pgm's own file was not at hand: how many cells a column has is known, and the widths of these 300 cells are a guess.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
. ../common/common.sh
echo age,workclass,fnlwgt,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,hours-per-week,native-country,income
zcat "$raw/adult/adult.data.gz" "$raw/adult/adult.test.gz" | grep , | sed 's/\.$//' | awk -F ', ' -v OFS=, '{
    print $1 - 17, $2, int($3 / 15000), $5, $6, $7, $8, $9, $10, int($11 / 1000), int($12 / 44), $13 - 1, $14, $15 }'
