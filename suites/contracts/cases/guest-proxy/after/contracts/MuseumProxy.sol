// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Keeps the address of the museum's contracts while their code is replaced.
contract MuseumProxy {
    address private target;
    address private admin;

    event TargetChanged(address indexed target);

    constructor(address target_, bytes memory data) {
        require(target_.code.length > 0, "no code");
        admin = msg.sender;
        target = target_;
        (bool ok, ) = target_.delegatecall(data);
        require(ok, "not started");
    }

    function changeTarget(address target_) external {
        require(msg.sender == admin && target_.code.length > 0, "cannot change");
        target = target_;
        emit TargetChanged(target_);
    }

    receive() external payable {
        forward();
    }

    fallback() external payable {
        forward();
    }

    function forward() private {
        address to = target;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) {
                revert(0, returndatasize())
            }
            return(0, returndatasize())
        }
    }
}
