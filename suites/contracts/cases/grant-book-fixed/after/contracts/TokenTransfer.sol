// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";

/// Moves tokens, whether or not they answer with a boolean.
library TokenTransfer {
    error TransferFailed(address token);

    function push(IERC20 token, address to, uint256 amount) internal {
        run(token, abi.encodeCall(IERC20.transfer, (to, amount)));
    }

    function pull(IERC20 token, address from, uint256 amount) internal {
        run(token, abi.encodeCall(IERC20.transferFrom, (from, address(this), amount)));
    }

    function run(IERC20 token, bytes memory data) private {
        (bool ok, bytes memory result) = address(token).call(data);
        if (!ok) revert TransferFailed(address(token));
        bool accepted = result.length == 0 ? address(token).code.length > 0 : abi.decode(result, (bool));
        if (!accepted) revert TransferFailed(address(token));
    }
}
