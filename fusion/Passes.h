// The group stage as a pass, for tilewright-opt.
#pragma once

namespace tilewright::fusion {

/// Registers tilewright-normalize-graph and tilewright-group-form-groups{mode=none|epilogue|all
/// explain=none|text|json}.
void registerFusionPasses();

} // namespace tilewright::fusion
