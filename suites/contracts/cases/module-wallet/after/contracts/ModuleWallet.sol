// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A wallet with modules: contracts whose code runs as the wallet's own. Interfaces show the outcome of an operation before
/// it is signed.
contract ModuleWallet {
    address public owner;
    mapping(address => bool) public isModule;
    uint256 public operations;

    event ModuleSet(address indexed module, bool enabled);
    event Executed(address indexed to, uint256 value);
    event Ran(address indexed module);

    modifier onlyOwner() {
        require(msg.sender == owner, "only the owner");
        _;
    }

    constructor(address owner_) payable {
        require(owner_ != address(0), "owner missing");
        owner = owner_;
    }

    receive() external payable {}

    function setModule(address module, bool enabled) external onlyOwner {
        isModule[module] = enabled;
        emit ModuleSet(module, enabled);
    }

    function execute(address to, uint256 value, bytes calldata data) external onlyOwner returns (bytes memory) {
        operations += 1;
        (bool ok, bytes memory result) = to.call{value: value}(data);
        require(ok, "operation failed");
        emit Executed(to, value);
        return result;
    }

    /// Runs a module that the owner has enabled.
    function run(address module, bytes calldata data) external onlyOwner returns (bytes memory) {
        require(isModule[module], "not enabled");
        operations += 1;
        (bool ok, bytes memory result) = module.delegatecall(data);
        require(ok, "module failed");
        emit Ran(module);
        return result;
    }

    /// Tries code as the wallet, for interfaces that show what would happen. Fails with the reason of the code if it fails.
    function preview(address code, bytes calldata data) external returns (bytes memory) {
        (bool ok, bytes memory result) = code.delegatecall(data);
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(result, 0x20), mload(result))
            }
        }
        return result;
    }
}
