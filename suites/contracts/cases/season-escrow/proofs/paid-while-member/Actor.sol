// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// An account of its own: calls what it is told to.
contract Actor {
    constructor() payable {}

    receive() external payable {}

    function act(address to, uint256 value, bytes memory data) public returns (bool ok, bytes memory result) {
        (ok, result) = to.call{value: value}(data);
    }

    function mustAct(address to, uint256 value, bytes memory data) external returns (bytes memory result) {
        bool ok;
        (ok, result) = act(to, value, data);
        require(ok, "setup: a call that should work reverts");
    }
}
