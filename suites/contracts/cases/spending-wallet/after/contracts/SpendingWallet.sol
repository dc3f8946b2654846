// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// A wallet for everyday spending. Small payments can be made by a helper; everything else is up to the owner.
contract SpendingWallet {
    using TokenTransfer for IERC20;

    address public owner;
    address public helper;
    uint256 public dailyAllowance;
    mapping(uint256 => uint256) public spentOn;

    event Paid(address indexed to, uint256 amount, address by);
    event OwnerChanged(address indexed owner);

    modifier onlyOwner() {
        require(tx.origin == owner, "only the owner");
        _;
    }

    constructor(address owner_, uint256 dailyAllowance_) payable {
        require(owner_ != address(0), "owner missing");
        owner = owner_;
        dailyAllowance = dailyAllowance_;
    }

    receive() external payable {}

    function setHelper(address helper_, uint256 dailyAllowance_) external onlyOwner {
        helper = helper_;
        dailyAllowance = dailyAllowance_;
    }

    function setOwner(address owner_) external onlyOwner {
        require(owner_ != address(0), "owner missing");
        owner = owner_;
        emit OwnerChanged(owner_);
    }

    function pay(address to, uint256 amount) external onlyOwner {
        send(to, amount);
    }

    function payToken(IERC20 token, address to, uint256 amount) external onlyOwner {
        token.push(to, amount);
    }

    /// Pays on behalf of the owner, within the allowance of the day.
    function paySmall(address to, uint256 amount) external {
        require(msg.sender == helper, "only the helper");
        uint256 today = block.timestamp / 1 days;
        spentOn[today] += amount;
        require(spentOn[today] <= dailyAllowance, "above the allowance");
        send(to, amount);
    }

    function send(address to, uint256 amount) private {
        emit Paid(to, amount, msg.sender);
        (bool ok, ) = payable(to).call{value: amount}("");
        require(ok, "payment refused");
    }
}
