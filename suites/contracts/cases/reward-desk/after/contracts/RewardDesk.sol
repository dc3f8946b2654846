// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Pays rewards for work that is tracked outside the chain. The office signs a slip; the worker brings it before it expires.
contract RewardDesk {
    using TokenTransfer for IERC20;

    bytes32 private constant SLIP = keccak256("Slip(address worker,uint256 amount,uint256 task,uint256 expires)");
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    IERC20 public immutable token;
    address public immutable office;
    bytes32 public immutable domain;
    mapping(address => uint256) public paidTo;

    event Paid(address indexed worker, uint256 indexed task, uint256 amount);

    constructor(IERC20 token_, address office_) {
        require(office_ != address(0), "office missing");
        token = token_;
        office = office_;
        domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
                keccak256("RewardDesk"),
                block.chainid,
                address(this)
            )
        );
    }

    function digestOf(address worker, uint256 amount, uint256 task, uint256 expires) public view returns (bytes32) {
        bytes32 slip = keccak256(abi.encode(SLIP, worker, amount, task, expires));
        return keccak256(abi.encodePacked(hex"1901", domain, slip));
    }

    function claim(uint256 amount, uint256 task, uint256 expires, uint8 v, bytes32 r, bytes32 s) external {
        require(block.timestamp <= expires, "expired");
        require(uint256(s) <= HALF_ORDER, "bad signature");
        bytes32 digest = digestOf(msg.sender, amount, task, expires);
        require(ecrecover(digest, v, r, s) == office, "not signed by the office");
        paidTo[msg.sender] += amount;
        token.push(msg.sender, amount);
        emit Paid(msg.sender, task, amount);
    }
}
