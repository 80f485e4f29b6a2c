// The stage "place" as a pass: tilewright-place-tiles{target=sm_80}.
#pragma once

namespace tilewright::tile {
void registerPlacePasses();
} // namespace tilewright::tile
