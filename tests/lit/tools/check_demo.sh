# check_demo.sh SCRIPT FOLDER: checks that the sizes in scripts/demo fit the models, which it writes to FOLDER.
set -euo pipefail
eval "$(sed -n '/^declare/,/^)/p' "$1")"
test ${#sizes[@]} -ge 10
tilewright-models "$2" "${!sizes[@]}" > /dev/null 2>&1
for model in "${!sizes[@]}"; do
  tilewright inspect "$2/$model/model.onnx" --io > "$2/io"
  for size in ${sizes[$model]//,/ }; do
    grep -Eq "[[ ]${size%%=*}[],]" "$2/io" || { echo "$model has no size called ${size%%=*}"; exit 1; }
  done
done
